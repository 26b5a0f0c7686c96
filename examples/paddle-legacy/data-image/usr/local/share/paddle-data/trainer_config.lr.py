# Logistic regression; read by the stand-in `paddle` of this example.
features = 16
batch_size = 50
learning_rate = 0.5
train_data = "data/train.txt"
