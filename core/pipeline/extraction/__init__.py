"""From a raw memory to facts and relations, by a model whose every answer is doubted."""
