-- From when on the age of a push counts: from its end, and before that from when it was accepted. Later for one that something still needed
-- when it had reached its age. Zero is what a node of an older version leaves, and is put right when the push is looked at.
alter table push add column aging_since bigint not null default 0;
update push set aging_since = created;
create index push_by_age on push (app, aging_since, id);

-- A push is kept as long as another has its payload from it.
create index push_by_payload on push (app, payload_of) where payload_of is not null;
