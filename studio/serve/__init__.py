"""The speech service: the voices of this computer over HTTP, with an API compatible with OpenAI's speech API.

Decision: a FastAPI application over ``WorkerClient``. Reason: the worker stays free of network code, and the service
shares its queue, caches and recovery with the window. Alternative: a server inside the worker.

The libraries of the extra ``serve`` are imported only by ``timbre serve`` and by the window's service page.
"""
