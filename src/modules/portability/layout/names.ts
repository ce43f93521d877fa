/** Version of the layout that archives have, and that an import demands. Source: supplement to the API documents, 14.1. */
export const archiveVersion = '0.2.4'

/** Name and version of the records in our archives: other writers of the same layout nest records otherwise. */
export const recordFormat = { name: 'stithy', version: 1 } as const

export const versionEntry = 'VERSION'
export const projectEntry = 'tree/project.json'
export const peopleEntry = 'tree/project/users.ndjson'
export const relationEntry = (name: string): string => `tree/project/${name}.ndjson`
/** The groups of an archive, parents first; the first is the one that was exported. */
export const groupsEntry = 'tree/group/groups.ndjson'
export const groupPeopleEntry = 'tree/group/users.ndjson'
export const groupRelationEntry = (name: string): string => `tree/group/${name}.ndjson`
/** `line` is that of the group. */
export const groupAvatarEntry = (line: number, filename: string): string => `avatars/${line}/${filename}`
/** `line` is that of the group. */
export const groupWikiEntry = (line: number): string => `wikis/${line}.bundle`

export const bundleEntry = 'project.bundle'
export const wikiEntry = 'project.wiki.bundle'
/** `line` is that of the record of the snippet. */
export const snippetEntry = (line: number): string => `snippets/${line}.bundle`
export const uploadEntry = (secret: string, filename: string): string => `uploads/${secret}/${filename}`
export const largeFileEntry = (oid: string): string => `lfs-objects/${oid}`
/** A layer or the configuration of a container image. */
export const imageBlobEntry = (digest: string): string => `container-blobs/${digest}`
export const avatarEntry = (filename: string): string => `avatar/${filename}`
