"""TRL's GRPOTrainer for real, on the CPU: three steps with the exported function, three through the service.

Run by ``.ci/trainers`` with the trainer's Python: ``with_trl.py FOLDER SERVICE_URL NAME``. The model is random, two
layers deep, made here; the tokenizer knows characters. Nothing is downloaded.
"""

import json
import string
import sys
import tempfile
import urllib.request

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

STEPS = 3
SIGNS = sorted(set(string.printable))


def tokenizer():
    words = {sign: place for place, sign in enumerate(["<pad>", "<eos>", "<unk>", *SIGNS])}
    made = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
    )


def model(size):
    return GPT2LMHeadModel(GPT2Config(vocab_size=size, n_positions=256, n_embd=32, n_layer=2, n_head=2))


def train(reward_func):
    """Three steps; returns what was logged."""
    words = tokenizer()
    rows = [{"prompt": f"What is {n}/2?", "answer": str(n / 2), "extra": {"level": n}} for n in range(1, 9)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = GRPOConfig(
            output_dir=folder,
            max_steps=STEPS,
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=12,
            use_cpu=True,
            bf16=False,
            report_to=[],
            logging_steps=1,
            save_strategy="no",
            disable_tqdm=True,
            temperature=1.0,
        )
        trainer = GRPOTrainer(
            model=model(len(words)),
            reward_funcs=[reward_func],
            args=arguments,
            train_dataset=Dataset.from_list(rows),
            processing_class=words,
        )
        trainer.train()
        return [row for row in trainer.state.log_history if "reward" in row]


def main():
    folder, url, name = sys.argv[1:4]
    sys.path.insert(0, folder)
    from reward import reward_func

    asked = []

    def by_function(prompts, completions, **columns):
        rewards = reward_func(prompts, completions, **columns)
        asked.append(rewards)
        return rewards

    def by_service(prompts, completions, answer, **columns):
        rewards = []
        for prompt, completion, truth, extra in zip(prompts, completions, answer, columns["extra"], strict=True):
            sample = {"messages": [{"role": "user", "content": prompt}], "extra": {**extra, "answer": truth}}
            body = json.dumps({"sample": sample, "completions": [completion]}).encode()
            request = urllib.request.Request(f"{url}/rewards/{name}", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answered:
                rewards += json.load(answered)["rewards"]
        own = reward_func(prompts, completions, answer=answer, **columns)
        assert rewards == own, (rewards, own)
        asked.append(rewards)
        return rewards

    for way in (by_function, by_service):
        asked.clear()
        logged = train(way)
        assert len(logged) == STEPS, logged
        assert len(asked) >= STEPS
        flat = [reward for rewards in asked for reward in rewards]
        print(
            f"{way.__name__}: {STEPS} steps, {len(flat)} rewards, {sum(r is None for r in flat)} unscored, "
            f"logged means {[round(row['reward'], 4) for row in logged]}"
        )


if __name__ == "__main__":
    main()
