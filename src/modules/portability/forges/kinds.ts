import type { Adapter } from './adapter.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'

/** Kinds of forges; also values of the setting `import_sources`. */
export const forgeKinds = ['github', 'gitea'] as const
export type ForgeKind = (typeof forgeKinds)[number]

export const adapters: Readonly<Record<ForgeKind, Adapter>> = { github, gitea }
