import pg from 'pg'

/**
 * Commits empty transactions at a steady rate: each invalidates the rows that the service caches by snapshot
 * (docs/adr/0015-snapshot-cache.md).
 */
export async function startCommits(databaseUrl: string, perSecond: number): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const commit = () => {
    client.query('select pg_current_xact_id()').catch(() => {})
  }
  const committing = perSecond > 0 ? setInterval(commit, 1000 / perSecond) : undefined
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(committing)
      await client.end()
    },
  }
}
