"""The training loop of all networks: what it learns, repeats, stops and survives."""

import math

import numpy as np
import pytest

from clearbands.engine.progress import listening
from clearbands.models.networks.losses import squared_error
from clearbands.models.networks.stack import Standard
from clearbands.models.networks.training import TrainingError, hold_out_counts, train
from tests.models.networks.small_networks import quick_plan, small_shape, torch, train_lines
from tests.toys import noisy_line


def first_rows(networks, n=50):
    return networks.predict_members(noisy_line(n, seed=9)[0])


def test_one_step_is_a_step_of_adam():
    """After one full batch, the parameters are as torch's own optimiser would leave them."""
    X, y = noisy_line(20)
    shape = small_shape(hidden=(), skip=True, dropout=0.0)  # a linear model
    plan = quick_plan(max_epochs=1, weight_decay=0.1, max_gradient_norm=0.5)

    def one_too_high(output, target):  # without this the bias has nothing to learn
        return squared_error(output, target + 1)

    found = train(shape, plan, one_too_high, X, y, np.ones((1, 20), int), [3], stage="test")

    start = shape.initial(np.random.Generator(np.random.SFC64(3)))
    line = torch.nn.Linear(2, 1)
    with torch.no_grad():
        line.weight.copy_(torch.from_numpy(start[:2]))
        line.bias.copy_(torch.from_numpy(start[2:]))
    adam = torch.optim.Adam(line.parameters(), lr=0.01, weight_decay=0.1)
    rows, target = (torch.from_numpy(Standard.of(v).apply(v)).float() for v in (X, y))
    torch.nn.functional.mse_loss(line(rows)[:, 0], target + 1).backward()
    torch.nn.utils.clip_grad_norm_(line.parameters(), 0.5)
    adam.step()
    np.testing.assert_allclose(found.stack.outputs[0][0], line.weight.detach().numpy(), rtol=1e-4)
    np.testing.assert_allclose(found.stack.bias[0], line.bias.detach().numpy(), atol=1e-5)


# Members


def test_members_do_not_depend_on_their_neighbours():
    """Training all at once, one by one or in groups gives the same networks up to rounding."""
    seeds = (5, 6, 7, 8)
    counts = hold_out_counts(120, 4, 0.2, np.random.RandomState(1))
    together = first_rows(train_lines(counts, seeds))
    alone = [first_rows(train_lines(counts[[i]], [seeds[i]])) for i in range(4)]
    np.testing.assert_allclose(together, np.concatenate(alone, axis=2), atol=1e-3)
    assert np.ptp(together, axis=2).min() > 1e-3  # yet they differ from each other


def test_groups_change_nothing(monkeypatch):
    together = first_rows(train_lines())
    monkeypatch.setattr(
        "clearbands.models.networks.training.ROWS_AT_ONCE", 64
    )  # two members of 32 rows
    np.testing.assert_allclose(first_rows(train_lines()), together, atol=1e-3)


def test_the_same_seed_gives_the_same_networks_and_leaves_torch_alone():
    torch_state, numpy_state = torch.get_rng_state(), np.random.mtrand._rand.get_state()[1].copy()
    threads = torch.get_num_threads()
    one, two = (first_rows(train_lines()) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert torch.equal(torch.get_rng_state(), torch_state)
    np.testing.assert_array_equal(np.random.mtrand._rand.get_state()[1], numpy_state)
    assert torch.get_num_threads() == threads
    assert np.abs(first_rows(train_lines(seeds=(4, 5, 6))) - one).max() > 1e-3


def test_rows_that_do_not_count_do_not_train():
    X, y = noisy_line(120)
    counts = np.ones((1, 120), int)
    counts[0, :40] = 0
    wild = np.where(np.arange(120) < 40, -y, y)
    wild *= np.std(y) / np.std(wild)
    wild += y.mean() - wild.mean()
    plan = quick_plan(max_epochs=1)
    calm = train(small_shape(), plan, squared_error, X, y, counts, [1], stage="test")
    other = train(small_shape(), plan, squared_error, X, wild, counts, [1], stage="test")
    # The 40 rows enter only by mean and deviation of the target, which are the same.
    scale = np.abs(calm.stack.weights[0]).max()
    far = np.abs(calm.stack.weights[0] - other.stack.weights[0]).max()
    assert far < 0.2 * scale
    assert calm.losses != other.losses


def test_training_stops_when_it_no_longer_helps_and_keeps_the_best():
    said = []
    X, y = noisy_line(120)
    plan = quick_plan(max_epochs=400, patience=5)
    with listening(lambda *report: said.append(report)):
        networks = train(
            small_shape(), plan, squared_error, X, y, np.ones((2, 120), int), [1, 2], stage="test"
        )
    epochs_run = len(said) - 1  # the last report says that all is done
    assert epochs_run < 400
    assert networks.epochs.max() + 5 == epochs_run
    assert said[-1] == ("test", 400, 400)
    # If no rows are left to stop by, the training rows are judged; the loss is that of kept
    # weights.
    rows, target = networks.inputs.apply(X), networks.target.apply(y)
    for i, loss in enumerate(networks.losses):
        error = networks.stack.forward(i, rows)[:, 0] - target
        assert np.mean(error**2) == pytest.approx(loss, rel=1e-4)


def test_an_interrupt_ends_training_at_once():
    def interrupt(*_):
        raise KeyboardInterrupt

    with listening(interrupt), pytest.raises(KeyboardInterrupt):
        train_lines()


# Failures


def explode_at(limit):
    """Return a squared error that is infinite for large outputs, as after a too high rate."""

    def loss(output, target):
        error = squared_error(output, target)
        return torch.where(output[:, 0].abs() > limit, torch.nan, error)

    return loss


def test_a_member_that_goes_astray_starts_again_more_slowly():
    networks = train_lines(plan=quick_plan(learning_rate=3.0, max_epochs=40), loss=explode_at(20.0))
    assert np.isfinite(networks.losses).all()
    assert np.isfinite(first_rows(networks)).all()


def test_when_nothing_helps_the_error_says_what_to_do():
    with pytest.raises(TrainingError, match=r"loss was not finite with learning_rate=0\.01"):
        train_lines(loss=explode_at(0.0))


def test_no_batch_of_a_single_row():
    """In batches of at most 32, 33 rows are 17 and 16."""
    sizes = set()

    def watching(output, target):
        sizes.add(target.shape[1])
        return squared_error(output, target)

    X, y = noisy_line(33)
    train(small_shape(), quick_plan(), watching, X, y, np.ones((1, 33), int), [0], stage="test")
    assert sizes == {16, 17, 33}  # 33 rows are judged without a batch


def test_a_constant_target_is_predicted_exactly():
    networks = train_lines(y=np.full(120, 3.7))
    np.testing.assert_array_equal(first_rows(networks), np.full((50, 1, 3), 3.7))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"batch_size": 1}, "batch_size must be a whole number of at least 2"),
        ({"max_epochs": 0}, "max_epochs must be"),
        ({"patience": 1.5}, "patience must be"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"weight_decay": -1}, "weight_decay must be a number of at least 0"),
        ({"input_noise": math.inf}, "input_noise must be"),
        ({"max_gradient_norm": 0}, "max_gradient_norm must be a number above 0"),
    ],
)
def test_bad_plans(changes, said):
    with pytest.raises(ValueError, match=said):
        quick_plan(**changes)
