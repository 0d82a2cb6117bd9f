-- Message Center: messages, whose inboxes they are in, and the users of inboxes.

-- The number of the next message, and the end of the last message that was forgotten altogether.
alter table app add column next_message bigint not null default 0;
alter table app add column messages_forgotten bigint not null default 0;

create table message (
  app bigint not null,
  number bigint not null,
  push blob not null,
  sent bigint not null,
  -- What devices are told; null for a message that does not say when it expires.
  expires bigint,
  -- From then on it is in nobody's inbox, because it has expired or was deleted.
  ends bigint not null,
  -- What events say about the push, and which text is for whom, as JSON.
  told text not null,
  texts text not null,
  -- The slices that have holders, as a serialized set.
  slices blob not null,
  primary key (app, number)
);
create unique index message_by_push on message (app, push);
create index message_by_end on message (app, ends);

-- A message has several texts if it is localized. The body is last, so that a listing need not read past it.
create table message_text (
  app bigint not null,
  number bigint not null,
  text bigint not null,
  title text not null,
  content_type text not null,
  details text not null,
  size bigint not null,
  body blob not null,
  primary key (app, number, text)
);

-- Whose inboxes a message is in, in slices of 4,096 channels: an inbox reads one row per message of its slice.
create table message_holders (
  app bigint not null,
  slice bigint not null,
  number bigint not null,
  holders blob not null,
  primary key (app, slice, number)
);

-- Read and deleted are serialized sets of message numbers.
create table inbox_user (
  app bigint not null,
  id text not null,
  password_hash blob not null,
  created bigint not null,
  changed bigint not null,
  read_messages blob not null,
  deleted_messages blob not null,
  primary key (app, id)
);
-- Devices present an id without saying of which app.
create unique index inbox_user_by_id on inbox_user (id);

create table inbox_channel (
  app bigint not null,
  ordinal bigint not null,
  user_id text not null,
  primary key (app, ordinal)
);
create index inbox_channel_by_user on inbox_channel (app, user_id);
