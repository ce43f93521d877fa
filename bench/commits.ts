import pg from 'pg'

/** Changes of ten kinds that leave the rows as they are. */
const changes = [
  'issues set updated_at = updated_at',
  'notes set updated_at = updated_at',
  'merge_requests set updated_at = updated_at',
  'labels set color = color',
  'projects set last_activity_at = last_activity_at',
  'commit_statuses set status = status',
  'pipelines set status = status',
  'access_tokens set last_used_at = last_used_at',
  'todos set state = state',
  'hooks set failures = failures',
]

/**
 * Commits transactions at a steady rate, each of another kind in turn: each outdates the rows that the service caches and that depend on
 * its table (docs/adr/0035-rows-cached-by-table.md).
 */
export async function startCommits(databaseUrl: string, perSecond: number): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  let made = 0
  const commit = () => {
    const change = changes[made++ % changes.length]!
    const table = change.slice(0, change.indexOf(' '))
    client.query(`update ${change} where id = (select max(id) from ${table})`).catch((error) => console.error(error))
  }
  const committing = perSecond > 0 ? setInterval(commit, 1000 / perSecond) : undefined
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(committing)
      await client.end()
    },
  }
}
