import { httpUrlToRepo, sshUrlToRepo } from '../../../api/site.ts'
import type { Payload } from '../../../events/catalogue.ts'
import { encodedPath } from '../../../kernel/encoded-path.ts'
import { pageOfEvent, wikiBranch } from '../../text/index.ts'
import { PayloadProject, userOf } from './blocks.ts'
import { findGroupBlock } from './queries.ts'
import type { PayloadCtx } from './shown.ts'
import { type Builder, type RecordedEvent, textIn } from './source.ts'

/** A page without its URL, and the commit that changed it, which a test of a hook lacks. */
type Page = Record<'title' | 'content' | 'format' | 'message' | 'slug' | 'commit', string | null>

/** A page of the wiki of a project, or of a group, which has `group` instead of `project`. Undefined if the page is gone. */
export const wikiPagePayload: Builder = async (ctx, { event }) => {
  const holder = await holderOf(ctx, event)
  const page = holder && (await pageOf(ctx, event, holder.fullPath))
  if (!page) return undefined
  const { fullPath, blocks, withAbsoluteImages } = holder
  const webUrl = `${ctx.site.url}/${holder.webPath}/-/wikis`
  const url = `${webUrl}/${encodedPath(page.slug ?? '')}`
  return {
    object_kind: 'wiki_page',
    user: await userOf(ctx, event.actor_id),
    ...blocks,
    wiki: {
      web_url: `${webUrl}/home`,
      git_ssh_url: sshUrlToRepo(ctx.site, `${fullPath}.wiki`),
      git_http_url: httpUrlToRepo(ctx.site, `${fullPath}.wiki`),
      path_with_namespace: `${fullPath}.wiki`,
      default_branch: await wikiBranch(ctx.db, holder),
    },
    object_attributes: {
      title: page.title,
      content: withAbsoluteImages(page.content),
      format: page.format,
      message: page.message,
      slug: page.slug,
      url,
      action: actions[event.kind as keyof typeof actions],
      ...(page.commit !== null && { diff_url: `${url}/diff?version_id=${page.commit}`, version_id: page.commit }),
    },
  }
}

const actions = { wiki_page_created: 'create', wiki_page_updated: 'update', wiki_page_deleted: 'delete' } as const

async function holderOf(ctx: PayloadCtx, { project_id, group_id }: RecordedEvent) {
  if (project_id !== null) {
    const project = await PayloadProject.load(ctx, project_id)
    return (
      project && {
        of: 'project' as const,
        id: project_id,
        fullPath: project.row.full_path,
        webPath: project.row.full_path,
        blocks: { project: project.block },
        withAbsoluteImages: (text: string | null) => project.withAbsoluteImages(text),
      }
    )
  }
  const group = group_id === null ? undefined : ((await findGroupBlock(ctx.db, group_id)) ?? ctx.shown?.group)
  return (
    group && {
      of: 'group' as const,
      id: group_id!,
      fullPath: group.full_path,
      webPath: `groups/${group.full_path}`,
      blocks: { group: { group_id, group_name: group.name, group_path: group.path, full_path: group.full_path } },
      withAbsoluteImages: (text: string | null) => text,
    }
  )
}

/** The page of the event, or that of a test of a hook, which is among its facts. */
async function pageOf(ctx: PayloadCtx, { payload, facts }: RecordedEvent, fullPath: string): Promise<Page | undefined> {
  if ('wiki_page_id' in payload) {
    const changed = payload as Payload<'wiki_page_created'>
    const page = await pageOfEvent(ctx, changed, fullPath)
    return page && { ...page, commit: changed.commit }
  }
  const [title, content, format] = [textIn(facts, 'title'), textIn(facts, 'content'), textIn(facts, 'format')]
  return { title, content, format, message: textIn(facts, 'message'), slug: textIn(facts, 'slug'), commit: null }
}
