"""What this machine has for a process: memory, and a folder that keeps what took long to make."""
