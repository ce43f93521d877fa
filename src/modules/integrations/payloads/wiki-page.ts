import { httpUrlToRepo, sshUrlToRepo } from '../../../api/site.ts'
import { PayloadProject, userOf } from './blocks.ts'
import { type Builder, textIn } from './source.ts'

/** The facts of the event are the page: `title`, `content`, `format`, `message`, `slug` and `action`. */
export const wikiPagePayload: Builder = async (ctx, { event: { project_id, actor_id, facts } }) => {
  const project = await PayloadProject.load(ctx, project_id)
  if (!project) return undefined
  const { full_path } = project.row
  const slug = textIn(facts, 'slug') ?? ''
  return {
    object_kind: 'wiki_page',
    user: await userOf(ctx, actor_id),
    project: project.block,
    wiki: {
      web_url: `${project.webUrl}/-/wikis/home`,
      git_ssh_url: sshUrlToRepo(ctx.site, `${full_path}.wiki`),
      git_http_url: httpUrlToRepo(ctx.site, `${full_path}.wiki`),
      path_with_namespace: `${full_path}.wiki`,
      default_branch: 'master',
    },
    object_attributes: {
      title: textIn(facts, 'title'),
      content: project.withAbsoluteImages(textIn(facts, 'content')),
      format: textIn(facts, 'format'),
      message: textIn(facts, 'message'),
      slug,
      url: `${project.webUrl}/-/wikis/${slug.split('/').map(encodeURIComponent).join('/')}`,
      action: textIn(facts, 'action'),
    },
  }
}
