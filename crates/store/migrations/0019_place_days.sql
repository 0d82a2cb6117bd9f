-- Who was in a place on a day, in the blocks of their ordinals. Asked for by place, over the days of a period.
create table place_day (
  app bigint not null,
  place text not null,
  day bigint not null,
  block bigint not null,
  members blob not null,
  primary key (app, place, day, block)
);
-- What is too old to be kept is looked for every hour.
create index place_day_by_day on place_day (app, day);

-- These sets used to be terms, under the day in seven digits, a slash and the place.
insert into place_day (app, place, day, block, members)
select term.app, substr(term.tag, 9), cast(substr(term.tag, 1, 7) as bigint), term_set.block, term_set.members
from term join term_set on term_set.app = term.app and term_set.term = term.id where term.grp = '@place';

delete from term_set where exists
  (select 1 from term where term.app = term_set.app and term.id = term_set.term and term.grp = '@place');

delete from term where grp = '@place';
