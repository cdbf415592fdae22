-- What a connector speaks with its broker. Those from before all speak AMQP 1.0.
alter table connectors add column kind text not null default 'amqp';
