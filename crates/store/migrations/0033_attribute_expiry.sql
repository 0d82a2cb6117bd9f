-- Objects as values of attributes end.
alter table attribute add column expires bigint;
-- For deleting what has ended.
create index attribute_by_expiry on attribute (app, expires) where expires is not null;
