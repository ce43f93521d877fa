import type { Actor } from '../../../access/actor.ts'
import { visibilities } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { notFound } from '../../../kernel/failure.ts'
import { withoutJsonSuffix } from '../../../kernel/json-suffix.ts'
import { findNamespace, type NamespaceWithLevel } from './queries.ts'

type Options = { counted?: boolean }

async function findReadable(
  ctx: Ctx,
  name: number | string,
  options: Options,
): Promise<NamespaceWithLevel | undefined> {
  const actor = ctx.actor!
  const row = await findNamespace(ctx.db, actor, name, options)
  return row && hasPart(actor, row) ? row : undefined
}

const hasPart = (actor: Actor, { level, owner_id }: NamespaceWithLevel): boolean =>
  actor.admin || level !== null || owner_id === actor.id

/** The group is open to all users, or to all that are not external. */
const isOpen = ({ external, limits }: Actor, { kind, visibility }: NamespaceWithLevel): boolean =>
  kind === 'group' &&
  !limits &&
  (visibility === visibilities.public || (visibility === visibilities.internal && !external))

/** A namespace by id or full path where a project is to go, for callers who may know of it; 404 for others. */
export async function namespaceToFill(ctx: Ctx, name: number | string): Promise<NamespaceWithLevel> {
  const actor = ctx.actor!
  const row = await findNamespace(ctx.db, actor, name)
  if (!row || !(hasPart(actor, row) || isOpen(actor, row))) throw notFound('Namespace')
  return row
}

/** A namespace by id or full path, for callers with a level in it, its owner and administrators; 404 for others. */
export async function readableNamespace(
  ctx: Ctx,
  name: number | string,
  options: Options = {},
): Promise<NamespaceWithLevel> {
  const row = await findReadable(ctx, name, options)
  if (!row) throw notFound('Namespace')
  return row
}

/** As `readableNamespace`, with its member count. Ignores `.json` after the id or full path if no namespace has that name, as for groups. */
export async function namespaceNamed(ctx: Ctx, name: string): Promise<NamespaceWithLevel> {
  const options = { counted: true }
  const bare = withoutJsonSuffix(name)
  const whole = bare === undefined ? undefined : await findReadable(ctx, name, options)
  return whole ?? readableNamespace(ctx, idOrPath(bare ?? name), options)
}

const idOrPath = (name: string): number | string => (/^\d{1,15}$/.test(name) ? Number(name) : name)
