import type { Holder } from '../../groups/index.ts'
import type { HookKind } from './triggers.ts'

/** What a hook belongs to; system hooks belong to the installation. */
export type HookHolder = Holder & { readonly of: 'project' | 'group' | 'instance' }

export const kindOf = ({ of }: HookHolder): HookKind => (of === 'instance' ? 'system' : of)
