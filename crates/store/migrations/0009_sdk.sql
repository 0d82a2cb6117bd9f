-- Named users under the ids by which devices know them. Whoever uses a channel of nobody goes by the channel's own id, so
-- that there is no row for them.
create table contact (
  app bigint not null,
  id blob not null,
  named_user text not null,
  primary key (app, id)
);
