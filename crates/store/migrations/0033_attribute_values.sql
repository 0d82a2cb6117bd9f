-- A selector by attribute reads all values of a name, of which there may be as many as channels: from the index alone. PostgreSQL
-- takes 2.7 kB into a row of an index, so long values, of which there are few, are left to their rows. A short value, a name and an
-- owner stay below that however they are spelled.
create index attribute_short on attribute (app, name, owner_kind, owner, value) where length(value) <= 300;
create index attribute_long on attribute (app, name, owner_kind, owner) where length(value) > 300;
drop index attribute_by_name;
