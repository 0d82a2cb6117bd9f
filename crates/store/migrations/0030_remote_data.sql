-- When the data that the devices of an app download last changed; 0 for an app that has none. The data are documents.
alter table app add column data_changed bigint not null default 0;
