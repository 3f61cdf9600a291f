"""Programs around the library, which the core never imports: command, service, page, report."""
