import type { Ctx } from '../../../api/ctx.ts'
import type { Trigger } from '../hooks/triggers.ts'
import { issuePayload } from './issue.ts'
import { mergeRequestPayload } from './merge-request.ts'
import { notePayload } from './note.ts'
import { jobPayload, pipelinePayload } from './pipeline.ts'
import { pushPayload, repositoryUpdatePayload } from './push.ts'
import { findShown } from './recorded-queries.ts'
import { releasePayload } from './release.ts'
import type { Builder, Source } from './source.ts'
import { memberPayload, subgroupPayload, systemPayload } from './system.ts'
import { wikiPagePayload } from './wiki-page.ts'

const builders: Readonly<Record<Trigger, Builder>> = {
  push_events: pushPayload,
  tag_push_events: pushPayload,
  repository_update_events: repositoryUpdatePayload,
  issues_events: issuePayload,
  confidential_issues_events: issuePayload,
  note_events: notePayload,
  confidential_note_events: notePayload,
  merge_requests_events: mergeRequestPayload,
  job_events: jobPayload,
  pipeline_events: pipelinePayload,
  wiki_page_events: wikiPagePayload,
  releases_events: releasePayload,
  member_events: memberPayload,
  subgroup_events: subgroupPayload,
  system_events: systemPayload,
}

/** The body that a hook receives, as JSON text; undefined if what the event is about is gone and was not recorded. */
export async function buildPayload(ctx: Ctx, source: Source): Promise<string | undefined> {
  const payload = await builders[source.trigger]({ ...ctx, shown: await findShown(ctx.db, source.event.id) }, source)
  return payload && JSON.stringify(payload)
}
