/** Plans in ascending order; each includes what the previous ones offer. */
export const plans = ['free', 'starter', 'premium', 'ultimate'] as const

export type Plan = (typeof plans)[number]

/** The smallest plan that offers a feature; a feature without a tier is in every plan. */
export type Tier = Exclude<Plan, 'free'>

export const planOffers = (plan: Plan, tier: Plan): boolean => plans.indexOf(plan) >= plans.indexOf(tier)

/** Whether `plan` offers a feature of `tier`. */
export const isOffered = (tier: Tier | undefined, plan: Plan): boolean => tier === undefined || planOffers(plan, tier)
