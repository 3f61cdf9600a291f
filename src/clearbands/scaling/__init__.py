"""Tables larger than memory, and more than one machine: the table is a file, members are tasks."""
