/** The path of the branches of a project in the API. */
export const branchesOf = (id: number): string => `/projects/${id}/repository/branches`

export const branchAt = (id: number, name: string): string => `${branchesOf(id)}/${encodeURIComponent(name)}`
