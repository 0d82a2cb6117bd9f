-- When a template was used is a row of its own from now on. It was at the end of the template's text, after when the template had been
-- changed, both as 13 digits; the row's own time was the later of the two.
insert into document (app, kind, id, created, modified, body)
select app, 'template_use', id, created, cast(substr(body, length(body) - 13, 13) as bigint), ''
from document
where kind = 'template' and body like '%,"modified":_____________,"last_used":_____________}';

update document set modified = cast(substr(body, length(body) - 39, 13) as bigint)
where kind = 'template' and body like '%,"modified":_____________,"last_used":_____________}';
