-- What the HTML part of a mail shows of Markdown; null if it shows the plain text.
alter table mails add column html text;
