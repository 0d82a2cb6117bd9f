-- Where in the log the records about channels are, noted for thousands of records at a time after they were written, and
-- whose a channel was before it changed hands.

create table log_posting (
    app bigint not null,
    -- Which subjects the row is about: 0 is for blocks of channels, the others share the channels and users.
    bucket bigint not null,
    -- Which 8,192 consecutive positions of the log it is about.
    section bigint not null,
    -- The subjects that have records in the section, with the positions of these.
    body blob not null,
    primary key (app, bucket, section)
);

-- The named user whom the channel left when it changed, if it did.
alter table face add column named_user text;
create index face_by_user on face (app, named_user, ordinal) where named_user is not null;
