import type { Oid } from '../../../git/oid.ts'
import type { RefName } from '../../../git/ref-name.ts'

/** One ref that moves. `from: null`: it is new; `to: null`: it goes. */
export type RefChange = { readonly name: RefName; readonly from: Oid | null; readonly to: Oid | null }
