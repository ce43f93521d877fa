import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { invalid, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { blank, lengthViolations, taken, violationsOf } from '../../../kernel/violations.ts'
import { acceptAvatar, saveAvatar } from '../../namespaces/index.ts'
import {
  deleteTopicRow,
  findTopic,
  insertTopic,
  lockProjectsOfTopic,
  lockTopics,
  removeFromProjects,
  renameInProjects,
  replaceInProjects,
  type TopicAttributes,
  type TopicRow,
  updateTopic,
} from './queries.ts'

const maxLengths = { name: 255, title: 255, description: 1024 }

function check({ name, title, description }: TopicAttributes): void {
  const violations = violationsOf({
    name:
      name.trim() === ''
        ? [blank]
        : [
            ...lengthViolations(name, maxLengths.name),
            // Lists of topics are comma-separated, and topics of projects are trimmed.
            ...(/,|\p{Cc}/u.test(name) || name !== name.trim() ? ['is invalid'] : []),
          ],
    title: lengthViolations(title ?? '', maxLengths.title),
    description: lengthViolations(description ?? '', maxLengths.description),
  })
  if (violations) throw invalidFields(violations)
}

const asTaken = (error: unknown): never => {
  if (violatedUnique(error) === 'topics_name') throw invalidFields({ name: [taken] })
  throw error
}

export async function getTopic(ctx: Ctx, id: number): Promise<TopicRow> {
  const topic = await findTopic(ctx.db, ctx.actor, id)
  if (!topic) throw rowNotFound()
  return topic
}

/** Declares a topic, whether or not projects use it. */
export async function createTopic(
  ctx: Ctx,
  topic: TopicAttributes,
  picture: UploadedFile | undefined,
): Promise<TopicRow> {
  check(topic)
  const avatar = await acceptAvatar(ctx, picture)
  const id = await ctx.transaction(async (tx) => {
    const made = await insertTopic(tx, topic)
    // It waits for others that take the name.
    await tx.requirePermission?.()
    if (made === undefined) throw invalidFields({ name: [taken] })
    if (avatar) await saveAvatar(tx, 'topic', made, avatar)
    await emit(tx, { kind: 'topic_created', actorId: ctx.actor!.id, payload: { topic_id: made } })
    return made
  })
  return getTopic(ctx, id)
}

/** Absent attributes stay, and values as they are leave no trace. A new name replaces the old one in all projects. */
export async function editTopic(
  ctx: Ctx,
  id: number,
  changes: { [K in keyof TopicAttributes]?: TopicAttributes[K] | undefined },
  picture: UploadedFile | null | undefined,
): Promise<TopicRow> {
  const avatar = await acceptAvatar(ctx, picture)
  await ctx
    .transaction(async (tx) => {
      if (changes.name !== undefined) await lockProjectsOfTopic(tx, id)
      const [held] = await lockTopics(tx, [id])
      const topic = {
        name: changes.name ?? held.name,
        title: changes.title === undefined ? held.title : changes.title,
        description: changes.description === undefined ? held.description : changes.description,
      }
      check(topic)
      const isChanged = changedNames(held, topic).length > 0
      if (isChanged) await updateTopic(tx, id, topic)
      if (topic.name !== held.name) await renameInProjects(tx, held.name, topic.name)
      const hasNewAvatar = avatar !== undefined && (await saveAvatar(tx, 'topic', id, avatar))
      if (!isChanged && !hasNewAvatar) return
      await emit(tx, {
        kind: 'topic_updated',
        actorId: ctx.actor!.id,
        payload: { topic_id: id },
      })
    })
    .catch(asTaken)
  return getTopic(ctx, id)
}

/** Deletes a topic, also from all projects. */
export async function removeTopic(ctx: Ctx, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockProjectsOfTopic(tx, id)
    const [held] = await lockTopics(tx, [id])
    await removeFromProjects(tx, held.name)
    await deleteTopicRow(tx, id)
    await emit(tx, { kind: 'topic_deleted', actorId: ctx.actor!.id, payload: { topic_id: id } })
  })
}

/** Replaces the source topic by the target in all projects and deletes the source. */
export async function mergeTopics(ctx: Ctx, sourceId: number, targetId: number): Promise<TopicRow> {
  if (sourceId === targetId) throw invalid('The source topic and the target topic are identical')
  await ctx.transaction(async (tx) => {
    await lockProjectsOfTopic(tx, sourceId)
    const [source, target] = await lockTopics(tx, [sourceId, targetId])
    await replaceInProjects(tx, source.name, target.name)
    await deleteTopicRow(tx, sourceId)
    await emit(tx, {
      kind: 'topic_merged',
      actorId: ctx.actor!.id,
      payload: { topic_id: targetId, merged_topic_id: sourceId },
    })
  })
  return getTopic(ctx, targetId)
}
