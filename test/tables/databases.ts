import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { databaseAt } from '../global-setup.ts'

async function administer(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgres').adminUrl })
  await client.connect()
  try {
    for (const text of statements) await client.query(text)
  } finally {
    await client.end()
  }
}

/** URL of a new, empty database on the server of the tests, whose owner may do nothing else. */
export async function ownedDatabase(): Promise<string> {
  const name = `owned_${process.pid}_${randomBytes(4).toString('hex')}`
  // The server admits no other role, so sessions become the owner when they begin.
  const become = `alter database ${name} set role to ${name}`
  await administer(`create role ${name}`, `create database ${name} owner ${name}`, become)
  onTestFinished(() => administer(`drop database if exists ${name} with (force)`, `drop role if exists ${name}`))
  return databaseAt(inject('postgres').adminUrl, name)
}

/** Runs one statement in a database. */
export async function runIn(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(text).finally(() => client.end())
}
