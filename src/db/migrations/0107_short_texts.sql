-- A search whose words have at most two letters finds texts that equal it. Their trigrams are those of most texts; these few have indexes of their own.

create index issues_short_title on issues (md5(lower(title))) where title !~ '\S{3}';
create index issues_short_description on issues (md5(lower(description))) where description !~ '\S{3}';
create index merge_requests_short_title on merge_requests (md5(lower(title))) where title !~ '\S{3}';
create index merge_requests_short_description on merge_requests (md5(lower(description)))
where description !~ '\S{3}';
create index epics_short_title on epics (md5(lower(title))) where title !~ '\S{3}';
create index epics_short_description on epics (md5(lower(description))) where description !~ '\S{3}';
create index notes_short_body on notes (md5(lower(body))) where body !~ '\S{3}' and not system;
