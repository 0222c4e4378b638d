"""The worker process, which runs the models, and its client.

``client.py`` sends requests from an asyncio loop, ``process.py`` starts the process and reads and writes its pipe on two
threads, ``server.py`` runs the requests in the process, and ``protocol.py`` defines the messages.
"""
