import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseServers } from '../../src/kernel/database-url.ts'

test('[STO-9] one server is taken as it is written', () => {
  for (const url of [
    'postgres://localhost/db',
    'postgresql://u:p%40w@db.example:5432/db?sslmode=require',
    'postgres://u:a,b@[::1]:5432/db',
    'postgres:///db?host=/var/run/postgresql',
  ])
    assert.deepEqual(databaseServers(url), { urls: [url], mustLook: false }, url)
})

test('[STO-9] several servers are one address each, with what stands around them', () => {
  assert.deepEqual(
    databaseServers('postgres://u:a,b@h1:5432,h2,[::1]:5433/db?target_session_attrs=read-write&sslmode=require'),
    {
      urls: [
        'postgres://u:a,b@h1:5432/db?sslmode=require',
        'postgres://u:a,b@h2/db?sslmode=require',
        'postgres://u:a,b@[::1]:5433/db?sslmode=require',
      ],
      mustLook: true,
    },
  )
  assert.equal(databaseServers('postgres://h1,h2/db')?.mustLook, true, 'a service that writes must find who takes it')
  assert.equal(databaseServers('postgres://h1/db?target_session_attrs=primary')?.mustLook, true)
  assert.equal(databaseServers('postgres://h1/db?target_session_attrs=any')?.mustLook, false)
})

test('[STO-9] what is no address of a database is refused, and so is a server that takes no writes', () => {
  for (const url of [
    'mysql://localhost/db',
    'postgres:/localhost/db',
    'postgres://h1,,h2/db',
    'postgres://h1,/db',
    'postgres://h1:port/db',
    'postgres://h1:5432,h2:99999/db',
    'postgres://h1,h2/db?target_session_attrs=standby',
    'postgres://h1,h2/db?target_session_attrs=read-only',
  ])
    assert.equal(databaseServers(url), null, url)
})
