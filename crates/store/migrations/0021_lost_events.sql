-- The offset of the last event that was deleted from an app's log, so that who has read it and comes back later is known to have
-- missed nothing. What was deleted before this is taken to have ended with an event.
alter table app add column log_lost bigint not null default 0;
update app set log_lost =
  coalesce((select min(position) from log where log.app = app.id), log_head + 1) * 131072 - 1;
