import { type Oid, parseOid } from './oid.ts'
import { parseRefName, type RefName } from './ref-name.ts'

/** One ref of a push. `from: null`: it is new; `to: null`: it is deleted. */
export type RefChange = { readonly name: RefName; readonly from: Oid | null; readonly to: Oid | null }

/** `<old> <new> <ref>`, as git hands it to hooks; `undefined` when the ref has a name that is not ours to take. */
export function parseUpdate(line: string): RefChange | undefined {
  const [from = '', to = '', ...rest] = line.split(' ')
  const name = parseRefName(rest.join(' '))
  return name && { name, from: parseOid(from) ?? null, to: parseOid(to) ?? null }
}
