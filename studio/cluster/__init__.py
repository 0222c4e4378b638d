"""The speech service on several computers: Ray Serve distributes the requests over workers.

Decision: one ingress with the application of ``studio.serve`` on the head node, and a worker per replica, all managed by
Ray Serve. Reason: Ray Serve already has routing, autoscaling and recovery, and clients see the same service.
Alternative: a distribution protocol of our own.

Only this package imports Ray, which is in the extra ``cluster``. ``replica`` and ``backend`` work without it.
"""
