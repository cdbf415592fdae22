import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseServers, shownDatabaseUrl } from '../../src/kernel/database-url.ts'

test('[STO-9] one server is taken as it is written', () => {
  for (const url of [
    'postgres://localhost/db',
    'postgresql://u:p%40w@db.example:5432/db?sslmode=require',
    'postgres://u:a,b@[::1]:5432/db',
    'postgres:///db?host=/var/run/postgresql',
  ])
    assert.deepEqual(databaseServers(url), { urls: [url], mustFindPrimary: false }, url)
})

test('[STO-9] several servers become one URL each, with the same credentials, database and parameters', () => {
  assert.deepEqual(
    databaseServers('postgres://u:a,b@h1:5432,h2,[::1]:5433/db?target_session_attrs=read-write&sslmode=require'),
    {
      urls: [
        'postgres://u:a,b@h1:5432/db?sslmode=require',
        'postgres://u:a,b@h2/db?sslmode=require',
        'postgres://u:a,b@[::1]:5433/db?sslmode=require',
      ],
      mustFindPrimary: true,
    },
  )
  assert.equal(
    databaseServers('postgres://h1,h2/db')?.mustFindPrimary,
    true,
    'a service that writes must find who takes it',
  )
  assert.equal(databaseServers('postgres://h1/db?target_session_attrs=primary')?.mustFindPrimary, true)
  assert.equal(databaseServers('postgres://h1/db?target_session_attrs=any')?.mustFindPrimary, false)
})

test('[STO-9] an invalid database URL is refused, and so is one for servers that take no writes', () => {
  for (const url of [
    'mysql://localhost/db',
    'postgres:/localhost/db',
    'postgres://h1,,h2/db',
    'postgres://h1,/db',
    'postgres://h1:port/db',
    'postgres://h1:5432,h2:99999/db',
    'postgres://h1,h2/db?target_session_attrs=standby',
    'postgres://h1,h2/db?target_session_attrs=read-only',
    'postgres://h1/db?sslmode=bogus',
  ])
    assert.equal(databaseServers(url), null, url)
})

test('[STO-9] a message shows the servers and the database, and nothing that may be secret', () => {
  const shown: [string, string][] = [
    ['postgres://localhost/db', 'postgres://localhost/db'],
    ['postgresql://u:p%40w@db.example:5432/db?sslpassword=hunter2', 'postgresql://db.example:5432/db'],
    ['postgres://u:a,b@h1:5432,h2,[::1]:5433/db', 'postgres://h1:5432,h2,[::1]:5433/db'],
    ['postgres:///db?host=/run&password=hunter2', 'postgres:///db'],
    ['postgres://u:1/hunter2@host/db', 'postgres://u:1'],
    ['hunter2', ''],
  ]
  for (const [url, expected] of shown) assert.equal(shownDatabaseUrl(url), expected, url)
})
