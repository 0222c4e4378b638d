"""Child processes, the processor, the way the program was installed, and telemetry switches of libraries."""
