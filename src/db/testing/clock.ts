import { type Node, walk } from './node-tree.ts'

/** Functions whose result changes without a change of the data. */
export type ChangingFunctions = ReadonlyMap<number, string>

/** Fields of the parse tree with the OID of a function. */
const functionFields = ['funcid', 'opfuncid', 'aggfnoid', 'winfnoid'] as const

/** `SQLValueFunctionOp` of PostgreSQL, of those that read the clock; 0 is `current_date`, which a cached read may use. */
const clocks: Readonly<Record<string, string>> = {
  1: 'current_time',
  2: 'current_time',
  3: 'current_timestamp',
  4: 'current_timestamp',
  5: 'localtime',
  6: 'localtime',
  7: 'localtimestamp',
  8: 'localtimestamp',
}

/** What the statement calls that makes its rows depend on more than data, values and date. */
export function changingIn(statement: Node, functions: ChangingFunctions): string[] {
  const found = new Set<string>()
  walk(statement, (node) => {
    for (const field of functionFields) {
      const name = functions.get(Number(node[field] ?? -1))
      if (name !== undefined) found.add(`${name}()`)
    }
    const clock = node.tag === 'SQLVALUEFUNCTION' ? clocks[String(node['op'])] : undefined
    if (clock !== undefined) found.add(clock)
  })
  return [...found]
}
