-- Messages for live connections (kind 22). A node that gets the first connection of an app reads those of many hours, which are few
-- among all other records.
create index log_lives on log (app, position) where kind = 22;
