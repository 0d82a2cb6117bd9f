-- Devices know a named user each by an id of its own, which ends when its channel leaves the user, and outlives
-- the channel. The ids so far were the same for all devices of a user and are shown by events: they end.
delete from contact;
create index contact_by_user on contact (app, named_user);
