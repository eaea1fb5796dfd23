"""Two models side by side, and a new one in the terms of an old one."""
