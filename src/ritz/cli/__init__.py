"""The command line: ``commands`` are thin faces of the library, the other folders what they share."""
