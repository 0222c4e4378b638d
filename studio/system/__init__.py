"""The computer and the process: child processes, processor, installation, switches of libraries' telemetry."""
