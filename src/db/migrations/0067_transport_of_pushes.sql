alter table pushes rename column door to transport;
