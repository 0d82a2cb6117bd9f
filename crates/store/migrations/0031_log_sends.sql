-- The records of deliveries: a process that starts reads those of many hours, among all that happened meanwhile. The number is that
-- of their kind.
create index log_sends on log (app, position) where kind = 2;
