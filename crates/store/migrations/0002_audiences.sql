-- Named users and what they bring to their channels; associations that wait for their channel; attributes; members of
-- uploaded lists; sets of channels that are not kept with the channels; tags that exist without a channel.

create table named_user (
  app bigint not null,
  id text not null,
  created bigint not null,
  modified bigint not null,
  terms blob not null,
  primary key (app, id)
);

create index channel_by_named_user on channel (app, named_user) where named_user is not null;

create table pending_association (
  app bigint not null,
  channel blob not null,
  named_user text not null,
  created bigint not null,
  primary key (app, channel)
);

create table attribute (
  app bigint not null,
  owner_kind text not null,
  owner text not null,
  name text not null,
  value text not null,
  set_at bigint not null,
  primary key (app, owner_kind, owner, name)
);

create index attribute_by_name on attribute (app, name, owner_kind, owner);

create table list_member (
  app bigint not null,
  list text not null,
  generation bigint not null,
  kind text not null,
  identifier text not null,
  primary key (app, list, generation, kind, identifier)
);

-- In blocks of 65,536 channels, so that a change of a few channels rewrites little.
create table term_set (
  app bigint not null,
  term bigint not null,
  block bigint not null,
  members blob not null,
  primary key (app, term, block)
);

create table legacy_tag (
  app bigint not null,
  tag text not null,
  primary key (app, tag)
);

-- The position in the app's log of the last deletion of a tag: whoever has not read that far must not trust what it
-- remembers of the numbers of tags.
alter table app add column terms_retired bigint not null default 0;
