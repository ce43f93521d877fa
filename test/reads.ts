import type { Endpoint } from '../src/api/endpoint.ts'
import { endpoints } from '../src/modules/endpoints.ts'
import type { Client } from './world.ts'

/** An id that no row has. */
const absent = '999999999'

/** Times differ between calls; of what was last active as well. */
const time = /"\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d\d:\d\d)"/g

/** The position of the change feed, which counts the events of the whole instance. */
const position = /^id: \d+-\d+$/gm

export type Reads = {
  /** Values of parameters of paths, `:user_id`; those of `:id` by what stands before it, `projects`. */
  readonly words: Readonly<Record<string, string>>
  /** Parameters of paths with several values. */
  readonly each: Readonly<Record<string, readonly (string | number)[]>>
  /** Queries that a read is asked with, besides none. */
  readonly queries: readonly (readonly [path: RegExp, query: string])[]
}

/** What a caller reads from every GET of the API: status, total and body, by address. */
export async function everything(client: Client, { words, each, queries }: Reads): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  const addressesOf = ({ path }: Endpoint): string[] => {
    const holder = /^\/(projects|groups|users|namespaces|snippets)\/:id/.exec(path)?.[1]
    let variants: Record<string, string>[] = [{ ...words, ':id': words[holder ?? ''] ?? absent }]
    for (const [name, values] of Object.entries(each))
      if (path.includes(name))
        variants = variants.flatMap((named) => values.map((value) => ({ ...named, [name]: String(value) })))
    return variants.flatMap((named) => {
      const address = path.replaceAll(/:\w+/g, (name) => encodeURIComponent(named[name] ?? absent))
      const more = queries.flatMap(([pattern, query]) => (pattern.test(path) ? `${address}?${query}` : []))
      return [address, ...more]
    })
  }
  // The commit of a merge ref has the time at which a read creates it.
  const reads = endpoints.filter(({ method, path }) => method === 'GET' && !path.endsWith('/merge_ref'))
  for (const read of reads)
    for (const address of addressesOf(read)) {
      const { status, text, headers } = await client.get(address)
      answers.set(
        address,
        `${status} ${headers['x-total'] ?? ''} ${text.replace(time, '"time"').replace(position, 'id')}`,
      )
    }
  return answers
}
