-- Devices know a named user each by an id of its own, which ends when its channel leaves the user, and outlives
-- the channel.
create index contact_by_user on contact (app, named_user);
