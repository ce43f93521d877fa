import pg from 'pg'

/** Changes of ten kinds, each of a row that is drawn at random: the share of its table, and what is set. */
const changes = [
  // As a new note does.
  ['issues', 'updated_at = now()'],
  ['notes', "body = 'edited ' || now(), updated_at = now()"],
  ['merge_requests', 'updated_at = now()'],
  ['labels', "description = 'edited ' || now()"],
  ['projects', 'last_activity_at = now()'],
  ['issues', 'weight = (coalesce(weight, 0) + 1) % 10, updated_at = now()'],
  ['pipelines', 'updated_at = now()'],
  ['access_tokens', 'last_used_at = now()'],
  ['merge_requests', "title = left(title, 20) || ' ' || now(), updated_at = now()"],
  ['todos', 'state = state'],
] as const

/**
 * Commits transactions at a steady rate, each of another kind in turn: each outdates the rows that the service caches and that depend on
 * what it changed (docs/adr/0035-rows-cached-by-table.md, 0036-changes-by-holder.md).
 */
export async function startCommits(databaseUrl: string, perSecond: number): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const largest = new Map<string, number>()
  for (const table of new Set(changes.map(([table]) => table)))
    largest.set(table, Number((await client.query(`select max(id) as id from ${table}`)).rows[0].id ?? 0))
  let made = 0
  const commit = () => {
    const [table, set] = changes[made++ % changes.length]!
    const from = Math.ceil(Math.random() * largest.get(table)!)
    client
      .query(`update ${table} set ${set} where id = (select id from ${table} where id >= $1 order by id limit 1)`, [
        from,
      ])
      .catch((error) => console.error(error))
  }
  const committing = perSecond > 0 ? setInterval(commit, 1000 / perSecond) : undefined
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(committing)
      await client.end()
    },
  }
}
