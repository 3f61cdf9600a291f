"""Whether the reason why intervals are wide is the true one."""
