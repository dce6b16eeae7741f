"""HTTP: the prompts API. One prompt or a thousand, over the same engine as everything else."""
