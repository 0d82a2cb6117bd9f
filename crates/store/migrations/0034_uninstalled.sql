-- Devices whose channels were uninstalled, for as long as feedback tells of them.
create table uninstalled (
    app bigint not null,
    -- When.
    at bigint not null,
    ordinal bigint not null,
    -- Where its provider reached it, as in the key of a channel.
    address text,
    alias text,
    primary key (app, at, ordinal)
);
-- For erasing a person.
create index uninstalled_by_ordinal on uninstalled (app, ordinal);
