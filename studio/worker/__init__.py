"""The worker process, which runs the models, and its client.

``client.py`` sends requests from an asyncio loop, ``connection.py`` reads and writes the pipe on two threads,
``process.py`` starts and ends the process, ``server.py`` works on requests there, ``protocol.py`` defines the messages.
"""
